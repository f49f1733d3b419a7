-- Test emails of operators are deliveries, too, and have no user.

-- always: deliveries without a user
alter table pgreflect_queue.deliveries alter column user_id drop not null;
