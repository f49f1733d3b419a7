import { createGraphql } from '/work/h/me/src/embed/graphql.ts';

export const graphql = await createGraphql({
  databaseUrl: process.env.DATABASE_URL,
  jwtSecret: process.env.JWT_SECRET,
});
