import { createGateway } from '/work/h/me/src/index.ts';

export const gateway = await createGateway({
  databaseUrl: process.env.DATABASE_URL,
  jwtSecret: process.env.JWT_SECRET,
  allowedRoles: ['anon', 'authenticated', 'service_role'],
  auth: { site_url: 'https://shop.example.com' },
});
