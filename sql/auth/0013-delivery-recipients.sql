-- Finds the deliveries to an address of which a mail service tells something.

-- always: an index of deliveries by their recipients
create index if not exists deliveries_recipient_hash_idx on pgreflect_queue.deliveries (recipient_hash);
