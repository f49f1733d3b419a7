-- A small shop with a blog: the schema that `pgreflect start` serves until you bring your own.
--
-- It shows, table by table, what the reflected API makes of PostgreSQL: enums, arrays, JSON, timestamps, exact numbers,
-- one-to-one, self references, composite keys, a view with a key, functions, row level security and comment directives.
-- Runs on PostgreSQL 14 to 18, in an empty database, as the owner of the schema public.

-- Switches for the whole namespace: camel-case names, and GraphiQL may ask for the schema.
comment on schema public is
  'Shop and blog. @graphql({"inflect_names": true, "introspection": true, "max_rows": 50})';

create type product_status as enum ('draft', 'active', 'retired');
create type order_status as enum ('open', 'paid', 'shipped', 'delivered', 'cancelled');
create type post_status as enum ('draft', 'published', 'archived');

-- Labels that are no GraphQL names get one here.
create type size_class as enum ('small', 'medium', 'large', 'x-large');
comment on type size_class is '@graphql({"mappings": {"x-large": "extraLarge"}})';


-- The shop

create table category (
  id        int generated always as identity primary key,
  parent_id int references category (id),
  name      text not null,
  slug      text not null unique,
  position  int not null default 0
);
create index on category (parent_id);
comment on table category is '@graphql({"description": "A shelf of the shop; shelves stand in shelves."})';
-- Without these names both directions would follow from the column and the table: parent and categoryCollection.
comment on constraint category_parent_id_fkey on category is '@graphql({"foreign_name": "parent", "local_name": "children"})';

create table product (
  id          bigint generated always as identity primary key,
  category_id int not null references category (id),
  sku         varchar(12) not null unique,
  name        text not null,
  description text,
  price       numeric(10, 2) not null check (price >= 0),
  status      product_status not null default 'draft',
  tags        text[] not null default '{}',
  attributes  jsonb not null default '{}',
  stock       int not null default 0 check (stock >= 0),
  released_on date,
  created_at  timestamptz not null default now()
);
create index on product (category_id);
create index on product (price);
create index on product (released_on);
create index on product using gin (tags);
comment on table product is
  '@graphql({"description": "Something the shop sells.", "totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
comment on column product.sku is '@graphql({"description": "Stock keeping unit: two letters and four digits."})';
comment on column product.price is '@graphql({"description": "In euros, tax included; a string, so that no digit is lost."})';

-- One-to-one: the primary key is the foreign key.
create table product_dimensions (
  product_id   bigint primary key references product (id) on delete cascade,
  weight_grams int not null check (weight_grams > 0),
  width_mm     int not null,
  height_mm    int not null,
  depth_mm     int not null,
  size         size_class not null
);
-- The field on the product is named after the key it shares unless a directive says otherwise.
comment on constraint product_dimensions_product_id_fkey on product_dimensions is '@graphql({"local_name": "dimensions"})';

-- user_id is the claim `sub` of the customer's access token.
create table customer (
  id        bigint generated always as identity primary key,
  user_id   uuid not null unique,
  full_name text not null,
  email     text not null unique,
  country   char(2) not null,
  joined_at timestamptz not null default now()
);

-- "order" is a reserved word of SQL; the API may still say Order.
create table shop_order (
  id          bigint generated always as identity primary key,
  customer_id bigint not null references customer (id),
  status      order_status not null default 'open',
  placed_at   timestamptz not null default now(),
  shipped_at  timestamptz,
  ship_to     jsonb not null default '{}'
);
create index on shop_order (customer_id);
create index on shop_order (placed_at);
comment on table shop_order is
  '@graphql({"name": "Order", "description": "What a customer bought at once.", "totalCount": {"enabled": true}})';

-- A composite key; line_total is computed by PostgreSQL and therefore read only.
create table order_line (
  order_id   bigint not null references shop_order (id) on delete cascade,
  line_no    int not null,
  product_id bigint not null references product (id),
  quantity   int not null check (quantity > 0),
  unit_price numeric(10, 2) not null,
  line_total numeric(12, 2) generated always as (quantity * unit_price) stored,
  primary key (order_id, line_no)
);
create index on order_line (product_id);
comment on table order_line is '@graphql({"aggregate": {"enabled": true}})';
comment on constraint order_line_order_id_fkey on order_line is '@graphql({"local_name": "lines"})';

create table review (
  product_id  bigint not null references product (id) on delete cascade,
  customer_id bigint not null references customer (id),
  rating      smallint not null check (rating between 1 and 5),
  title       varchar(80) not null,
  body        text,
  created_at  timestamptz not null default now(),
  primary key (product_id, customer_id)
);
create index on review (customer_id);
comment on table review is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}, "max_rows": 20})';
comment on constraint review_product_id_fkey on review is '@graphql({"local_name": "reviews"})';


-- The blog

create table author (
  id      int generated always as identity primary key,
  name    text not null,
  bio     text,
  links   jsonb,
  started date not null
);

create table post (
  id           bigint generated always as identity primary key,
  author_id    int not null references author (id),
  title        text not null,
  slug         text not null unique,
  body         text not null,
  status       post_status not null default 'draft',
  tags         text[] not null default '{}',
  reading_time interval,
  published_at timestamptz,
  -- A column of this type is searched, and rows are ordered by rank.
  search       tsvector generated always as (to_tsvector('english', title || ' ' || body)) stored
);
create index on post (author_id);
create index on post (published_at);
create index on post using gin (search);
comment on table post is '@graphql({"totalCount": {"enabled": true}, "max_rows": 20})';
comment on constraint post_author_id_fkey on post is '@graphql({"local_name": "posts"})';

-- A self reference: an answer names the comment it answers.
create table comment (
  id          bigint generated always as identity primary key,
  post_id     bigint not null references post (id) on delete cascade,
  parent_id   bigint references comment (id) on delete cascade,
  author_name text not null,
  body        text not null,
  created_at  timestamptz not null default now()
);
create index on comment (post_id);
create index on comment (parent_id);
comment on table comment is '@graphql({"totalCount": {"enabled": true}})';
comment on constraint comment_post_id_fkey on comment is '@graphql({"local_name": "comments"})';
comment on constraint comment_parent_id_fkey on comment is '@graphql({"foreign_name": "inReplyTo", "local_name": "replies"})';

-- A junction: which products a post talks about. Its comment gives each side a collection of the other.
create table post_product (
  post_id    bigint not null references post (id) on delete cascade,
  product_id bigint not null references product (id) on delete cascade,
  primary key (post_id, product_id)
);
create index on post_product (product_id);
comment on table post_product is '@graphql({"many_to_many": {"from": "products", "to": "posts"}})';
comment on constraint post_product_post_id_fkey on post_product is '@graphql({"local_name": "productLinks"})';
comment on constraint post_product_product_id_fkey on post_product is '@graphql({"local_name": "postLinks"})';


-- A view becomes part of the API when a directive names its key, and may declare where it points.
-- It runs with its owner's rights, so it repeats the rule that keeps hidden products hidden, and tells `pgreflect check` that this
-- is meant so.
create view product_rating as
select p.id as product_id, count(*)::int as review_count, round(avg(r.rating), 2) as average_rating, max(r.created_at) as latest_at
from product p
join review r on r.product_id = p.id
where p.status = 'active'
group by p.id;
comment on view product_rating is
  'One row for every product with a review.
  @graphql({
    "primary_key_columns": ["product_id"],
    "foreign_keys": [{
      "local_columns": ["product_id"], "foreign_schema": "public", "foreign_table": "product", "foreign_columns": ["id"],
      "foreign_name": "product", "local_name": "ratings"
    }],
    "ignore": ["view_runs_as_owner"]
  })';


-- Functions over a row are fields of that row; where their comment says so, rows are also filtered and ordered by them.
create function in_stock(item product) returns boolean
  language sql stable as 'select item.status = ''active'' and item.stock > 0';
comment on function in_stock(product) is '@graphql({"description": "Can be ordered now.", "filter": true})';

create function price_gap(item product, price numeric) returns numeric
  language sql immutable as 'select abs(item.price - price)';
comment on function price_gap is '@graphql({"description": "How far the price is from another one.", "order": true})';

create function excerpt(entry post) returns text
  language sql stable as 'select left(entry.body, 120) || case when length(entry.body) > 120 then ''…'' else '''' end';

create function order_total(purchase shop_order) returns numeric
  language sql stable as 'select coalesce(sum(l.line_total), 0) from order_line l where l.order_id = purchase.id';
comment on function order_total(shop_order) is '@graphql({"name": "total"})';

create function similar_products(item product) returns setof product
  language sql stable as
  'select p.* from product p where p.category_id = item.category_id and p.tags && item.tags and p.id <> item.id';

-- A stable function with named arguments is a field of Query; one that returns rows of a table is a connection.
create function search_products(term text) returns setof product
  language sql stable as
  'select p.* from product p
   where to_tsvector(''english'', p.name || '' '' || coalesce(p.description, '''')) @@ websearch_to_tsquery(''english'', term)';
create index on product using gin (to_tsvector('english', name || ' ' || coalesce(description, '')));

-- Arguments of composite types are objects; what returns a table is a list of objects.
create type basket_line as (product_id bigint, quantity int);
create function basket(lines basket_line[]) returns table (name text, quantity int, price numeric, in_stock boolean)
  language sql stable as
  'select p.name, l.quantity, p.price * l.quantity, p.stock >= l.quantity
   from unnest(lines) with ordinality l (product_id, quantity, n) join product p on p.id = l.product_id order by l.n';


-- Who sees what. Every table has row level security; what no policy allows does not exist for the caller.

alter table category enable row level security;
alter table product enable row level security;
alter table product_dimensions enable row level security;
alter table customer enable row level security;
alter table shop_order enable row level security;
alter table order_line enable row level security;
alter table review enable row level security;
alter table author enable row level security;
alter table post enable row level security;
alter table comment enable row level security;
alter table post_product enable row level security;

-- Everyone: shelves, authors, what is for sale, what is published.
create policy everyone_reads on category for select using (true);
create policy everyone_reads on author for select using (true);
create policy everyone_reads_active on product for select using (status = 'active');
create policy everyone_reads_published on post for select using (status = 'published');
-- A policy may lean on the policies of another table: what belongs to a hidden product or post is hidden with it.
create policy with_product on product_dimensions for select using (exists (select from product p where p.id = product_id));
create policy with_product on review for select using (exists (select from product p where p.id = product_id));
create policy with_post on comment for select using (exists (select from post p where p.id = post_id));
create policy with_post_and_product on post_product for select
  using (exists (select from post p where p.id = post_id) and exists (select from product p where p.id = product_id));

-- A customer: the own row, found by the claims of the token; the own orders follow from it.
create policy own_row on customer for select
  using (user_id = (select (nullif(current_setting('request.jwt.claims', true), '')::json ->> 'sub')::uuid));
create policy own_orders on shop_order for select using (customer_id in (select c.id from customer c));
create policy own_order_lines on order_line for select using (order_id in (select o.id from shop_order o));
create policy own_reviews_write on review for insert with check (customer_id in (select c.id from customer c));
create policy own_reviews_change on review for update using (customer_id in (select c.id from customer c));
create policy own_reviews_delete on review for delete using (customer_id in (select c.id from customer c));


-- Grants decide which part of the schema a role sees at all. Guarded, so that the file also runs where the roles do not
-- exist yet; `pgreflect init` makes them.
do $grants$
begin
  if exists (select from pg_catalog.pg_roles where rolname = 'anon') then
    grant usage on schema public to anon;
    -- A project may grant everything on new tables by default.
    revoke all on all tables in schema public from anon;
    grant select on category, product, product_dimensions, review, product_rating, author, post, comment, post_product to anon;
  end if;
  if exists (select from pg_catalog.pg_roles where rolname = 'authenticated') then
    grant usage on schema public to authenticated;
    revoke all on all tables in schema public from authenticated;
    grant select on all tables in schema public to authenticated;
    grant insert, update, delete on review to authenticated;
  end if;
  if exists (select from pg_catalog.pg_roles where rolname = 'service_role') then
    grant usage on schema public to service_role;
    grant select, insert, update, delete on all tables in schema public to service_role;
  end if;
end
$grants$;
