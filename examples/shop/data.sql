-- Data for schema.sql: about six thousand rows, the same on every machine. Loads in well under a second.
--
-- Nothing is random: pick() draws a number from a name and the row's position, so answers in the documentation stay true.
-- Times count from 2026-01-01, never from now.

create function pg_temp.pick(draw text, n int) returns int
  language sql immutable as $$ select ('x' || substr(md5(draw), 1, 7))::bit(28)::int % n $$;

create function pg_temp.choose(draw text, choices text[]) returns text
  language sql immutable as $$ select choices[1 + pg_temp.pick(draw, array_length(choices, 1))] $$;

insert into category (parent_id, name, slug, position)
select null, name, lower(name), position
from unnest(array['Kitchen', 'Garden', 'Office', 'Outdoor']) with ordinality as top (name, position);

insert into category (parent_id, name, slug, position)
select parent.id, child.name, lower(replace(child.name, ' ', '-')), child.position
from category parent
join (values
  ('Kitchen', 'Cups', 1), ('Kitchen', 'Pans', 2), ('Kitchen', 'Knives', 3), ('Kitchen', 'Storage', 4),
  ('Garden', 'Pots', 1), ('Garden', 'Tools', 2), ('Garden', 'Seeds', 3),
  ('Office', 'Lamps', 1), ('Office', 'Paper', 2), ('Office', 'Desks', 3), ('Office', 'Pens', 4),
  ('Outdoor', 'Tents', 1), ('Outdoor', 'Stoves', 2), ('Outdoor', 'Bags', 3)
) as child (parent, name, position) on child.parent = parent.name
order by parent.id, child.position;

insert into product (category_id, sku, name, description, price, status, tags, attributes, stock, released_on, created_at)
select
  c.id,
  upper(left(c.slug, 2)) || lpad((i * 7 % 10000)::text, 4, '0'),
  p.style || ' ' || p.material || ' ' || c.singular,
  'A ' || lower(p.style) || ' ' || lower(c.singular) || ' made of ' || lower(p.material) || '. ' || p.praise,
  (300 + pg_temp.pick('price' || i, 19700)) / 100.0,
  (case when i % 25 = 0 then 'draft' when i % 19 = 0 then 'retired' else 'active' end)::product_status,
  array_remove(array[
    lower(p.material), lower(p.style),
    case when pg_temp.pick('gift' || i, 4) = 0 then 'gift' end,
    case when pg_temp.pick('sale' || i, 6) = 0 then 'sale' end
  ], null),
  jsonb_build_object('colour', p.colour, 'warranty_years', 1 + pg_temp.pick('warranty' || i, 5),
    'care', jsonb_build_object('dishwasher', pg_temp.pick('dishwasher' || i, 2) = 1)),
  case when pg_temp.pick('sold out' || i, 9) = 0 then 0 else pg_temp.pick('stock' || i, 240) end,
  date '2023-01-01' + pg_temp.pick('released' || i, 1095),
  timestamptz '2026-01-01 00:00:00+00' - make_interval(hours => pg_temp.pick('created' || i, 20000))
from generate_series(1, 400) as i
cross join lateral (
  select
    pg_temp.choose('style' || i, array['Plain', 'Classic', 'Folding', 'Heavy', 'Light', 'Round', 'Compact', 'Rustic']) as style,
    pg_temp.choose('material' || i, array['Oak', 'Steel', 'Glass', 'Clay', 'Linen', 'Copper', 'Bamboo', 'Cork']) as material,
    pg_temp.choose('colour' || i, array['natural', 'black', 'white', 'green', 'blue']) as colour,
    pg_temp.choose('praise' || i, array[
      'Lasts for years.', 'Made by hand.', 'Fits everywhere.', 'Repairs included.', 'A quiet favourite.'
    ]) as praise
) as p
join lateral (
  select c.id, c.slug, replace(rtrim(c.name, 's'), 'Knive', 'Knife') as singular from category c where c.parent_id is not null
  order by c.id offset pg_temp.pick('category' || i, 14) limit 1
) as c on true
order by i;

insert into product_dimensions (product_id, weight_grams, width_mm, height_mm, depth_mm, size)
select p.id, d.weight, 40 + d.weight / 10, 60 + d.weight / 12, 30 + d.weight / 15,
  (case when d.weight < 800 then 'small' when d.weight < 2200 then 'medium' when d.weight < 4000 then 'large' else 'x-large' end)::size_class
from product p
cross join lateral (select 60 + pg_temp.pick('weight' || p.id, 5000) as weight) as d
where p.id % 7 <> 0
order by p.id;

-- The first customer signs in with the claim "sub": "00000000-0000-4000-8000-000000000001", the second with …002, and so on.
insert into customer (user_id, full_name, email, country, notify_on, joined_at)
select
  ('00000000-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))::uuid,
  n.first || ' ' || n.last,
  lower(n.first || '.' || n.last) || i || '@example.org',
  pg_temp.choose('country' || i, array['DE', 'FR', 'NL', 'AT', 'PT', 'SE', 'PL']),
  pg_temp.choose('notify' || i, array['{}', '{shipped}', '{paid,shipped}', '{paid,shipped,delivered,cancelled}'])::order_status[],
  timestamptz '2024-01-01 08:00:00+00' + make_interval(hours => i * 80 + pg_temp.pick('joined' || i, 70))
from generate_series(1, 200) as i
cross join lateral (
  select
    pg_temp.choose('first' || i, array['Ada', 'Noor', 'Jonas', 'Mila', 'Emil', 'Ines', 'Tomas', 'Lena', 'Hugo', 'Sanne', 'Karim', 'Ewa']) as first,
    pg_temp.choose('last' || i, array['Berg', 'Costa', 'Dubois', 'Eriksson', 'Fischer', 'Jansen', 'Kowalska', 'Moreau', 'Silva', 'Wagner']) as last
) as n
order by i;

insert into shop_order (customer_id, status, placed_at, shipped_at, ship_to)
select
  c.id, s.status::order_status, s.placed_at,
  case when s.status in ('shipped', 'delivered') then s.placed_at + make_interval(hours => 12 + pg_temp.pick('ship' || i, 60)) end,
  jsonb_build_object('street', (1 + pg_temp.pick('house' || i, 120)) || ' Market Street', 'country', c.country)
from generate_series(1, 800) as i
join customer c on c.id = 1 + pg_temp.pick('customer' || i, 200)
cross join lateral (
  select
    pg_temp.choose('order' || i, array['open', 'paid', 'shipped', 'delivered', 'delivered', 'delivered', 'cancelled']) as status,
    timestamptz '2025-01-01 06:00:00+00' + make_interval(mins => i * 650 + pg_temp.pick('placed' || i, 600)) as placed_at
) as s
order by i;

insert into order_line (order_id, line_no, product_id, quantity, unit_price)
select o.id, line.no, p.id, 1 + pg_temp.pick('quantity' || o.id || '/' || line.no, 4), p.price
from shop_order o
cross join lateral generate_series(1, 1 + pg_temp.pick('lines' || o.id, 4)) as line (no)
join product p on p.id = 1 + pg_temp.pick('bought' || o.id || '/' || line.no, 400)
order by o.id, line.no;

insert into review (product_id, customer_id, rating, title, body, created_at)
select distinct on (1 + pg_temp.pick('reviewed' || i, 400), 1 + pg_temp.pick('reviewer' || i, 200))
  1 + pg_temp.pick('reviewed' || i, 400), 1 + pg_temp.pick('reviewer' || i, 200), r.rating,
  (array['Not for me', 'It broke', 'Does the job', 'Very good', 'Would buy again'])[r.rating],
  case when pg_temp.pick('body' || i, 3) > 0 then
    pg_temp.choose('says' || i, array['Arrived in two days.', 'Smaller than I thought.', 'My whole family uses it.', 'The colour is lovely.'])
  end,
  timestamptz '2025-03-01 12:00:00+00' + make_interval(hours => i * 5)
from generate_series(1, 1200) as i
cross join lateral (select (array[5, 5, 5, 4, 4, 4, 3, 3, 2, 1])[1 + pg_temp.pick('rating' || i, 10)]::smallint as rating) as r
order by 1, 2, i;

-- Two of three products are counted, some of them in two years.
insert into stock_count (product_id, counted_on, pieces, as_booked, note)
select p.id, d.day, greatest(p.stock + d.difference, 0), d.difference = 0, case when d.difference < 0 then 'Some are missing.' end
from product p
cross join (values (2025), (2026)) as y (year)
cross join lateral (
  select make_date(y.year, 1, 5) + pg_temp.pick('day' || p.id, 5) as day,
    case when pg_temp.pick('counted' || p.id || '/' || y.year, 5) = 0 then pg_temp.pick('difference' || p.id, 9) - 4 else 0 end as difference
) as d
where pg_temp.pick('count' || p.id || '/' || y.year, 3) > 0
order by 1, 2;

insert into message (email, body, sent_at) values
  ('visitor@example.org', 'Do you ship to Norway?', '2025-12-01 09:00:00+00'),
  ('press@example.org', 'May we print your photo of the copper pan?', '2025-12-04 16:30:00+00');

insert into author (name, bio, links, started)
select a.name, a.bio, a.links::jsonb, date '2024-01-15' + (a.n - 1) * 60
from (values
  (1, 'Mira Holt', 'Cooks on one flame.', '{"site": "https://example.org/mira"}'),
  (2, 'Teo Lindqvist', 'Grows tomatoes on a balcony.', '{"site": "https://example.org/teo", "mail": "teo@example.org"}'),
  (3, 'Aylin Demir', 'Writes about desks and light.', '{}'),
  (4, 'Jan Novak', null, null),
  (5, 'Rosa Pires', 'Walks far with a light bag.', '{"site": "https://example.org/rosa"}'),
  (6, 'Kofi Mensah', 'Repairs what others throw away.', '{"site": "https://example.org/kofi"}'),
  (7, 'Elena Rossi', 'Sharpens knives.', null),
  (8, 'Sam Okafor', 'New here.', '{}')
) as a (n, name, bio, links)
order by a.n;

insert into post (author_id, title, slug, body, status, tags, reading_time, published_at)
select
  1 + pg_temp.pick('author' || i, 8),
  t.opening || ' ' || t.topic,
  lower(replace(t.opening || ' ' || t.topic, ' ', '-')) || '-' || i,
  t.opening || ' ' || t.topic || ' is a question we hear every week. '
    || repeat('Start small, keep what works, and write down what you changed. ', 2 + pg_temp.pick('length' || i, 12)),
  (case when i % 9 = 0 then 'draft' when i % 14 = 0 then 'archived' else 'published' end)::post_status,
  array[t.tag, pg_temp.choose('tag' || i, array['howto', 'story', 'news'])],
  make_interval(mins => 2 + pg_temp.pick('reading' || i, 14)),
  case when i % 9 <> 0 then timestamptz '2025-02-01 07:30:00+00' + make_interval(hours => i * 61) end
from generate_series(1, 120) as i
cross join lateral (
  select
    pg_temp.choose('opening' || i, array['How to choose', 'Living with', 'Ten years of', 'Caring for', 'The case for']) as opening,
    x.topic[1] as topic, x.topic[2] as tag
  from (select case pg_temp.pick('topic' || i, 6)
    when 0 then array['copper pans', 'kitchen'] when 1 then array['balcony pots', 'garden'] when 2 then array['a standing desk', 'office']
    when 3 then array['good paper', 'office'] when 4 then array['a light tent', 'outdoor'] else array['sharp knives', 'kitchen'] end as topic) as x
) as t
order by i;

insert into comment (post_id, parent_id, author_name, body, created_at)
select
  1 + pg_temp.pick('post' || thread.i, 120),
  case when thread.nth > 0 then (thread.i - 1) * 3 + thread.nth end,
  pg_temp.choose('who' || thread.i || '/' || thread.nth, array['Ada', 'Noor', 'Jonas', 'Mila', 'Emil', 'Ines', 'Tomas', 'Lena']),
  case when thread.nth = 0
    then pg_temp.choose('asks' || thread.i, array['Which size do you use?', 'Thank you, this helped.', 'I do it the other way round.', 'Where can I buy one?'])
    else pg_temp.choose('answers' || thread.i || '/' || thread.nth, array['The small one.', 'Glad to hear it.', 'Me too.', 'In the shop, of course.'])
  end,
  timestamptz '2025-06-01 10:00:00+00' + make_interval(hours => thread.i * 14 + thread.nth)
from (select i, nth from generate_series(1, 300) as i cross join generate_series(0, 2) as nth) as thread
order by thread.i, thread.nth;

insert into post_product (post_id, product_id)
select distinct post.id, 1 + pg_temp.pick('mentioned' || post.id || '/' || n, 400)
from post
cross join generate_series(1, 3) as n
order by 1, 2;

drop function pg_temp.choose(text, text[]);
drop function pg_temp.pick(text, int);
analyze;
