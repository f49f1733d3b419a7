comment on schema public is e'@graphql({"inflect_names": true})';
comment on table public.posts is e'@graphql({"totalCount": {"enabled": true}})';
comment on view public.my_posts is e'@graphql({"primary_key_columns": ["id"]})';
