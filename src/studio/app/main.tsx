/** The studio: starts the application in the page. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { enterByTicket } from './shared/session.ts';
import '@fontsource/fira-code/400.css';
import '@fontsource/fira-code/600.css';
import './styles/base.css';
import './styles/command-line.css';
import './styles/components.css';
import './styles/dialog.css';
import './styles/frame.css';
import './styles/link-list.css';
import './styles/facts.css';
import './styles/rows.css';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no place for the application.');
// Before rendering: removes the one-time token from the address at once.
const entering = enterByTicket();
createRoot(root).render(
  <StrictMode>
    <App entering={entering} />
  </StrictMode>,
);
