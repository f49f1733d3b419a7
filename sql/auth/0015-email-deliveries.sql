-- Finds the email that a delivery waits with: for the time of its next attempt, and before an old delivery is deleted.

-- always: an index of emails by their deliveries
create index if not exists emails_delivery_id_idx on pgreflect_queue.emails (delivery_id);
