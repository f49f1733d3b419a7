select cron.schedule('forget-guests', '0 3 * * *', $$delete from public.members where role = 'guest'$$);
