/** The GraphiQL page at `/graphql/v1`: starts it with the gateway's settings in the page. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { GraphiqlPage, type GraphiqlSettings } from './pages/graphql/graphiql-page.tsx';
import '@fontsource/fira-code/400.css';
import './styles/base.css';
import './styles/components.css';

const root = document.getElementById('root');
const settings = document.getElementById('settings')?.textContent;
if (root === null || !settings) throw new Error('The page has no place for GraphiQL.');
createRoot(root).render(
  <StrictMode>
    <GraphiqlPage settings={JSON.parse(settings) as GraphiqlSettings} />
  </StrictMode>,
);
