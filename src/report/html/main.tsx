/** The page of one account: reads the data from the document, and renders it. */
import { render } from 'preact';
import { App } from './app.tsx';
import { accountKeys, listenForKeys } from './keys.ts';
import { goTo, target, watchSurroundings } from './state.ts';

const root = document.getElementById('page');
if (root) {
  root.replaceChildren();
  watchSurroundings();
  listenForKeys(accountKeys);
  render(<App />, root);
  goTo(target.value);
  requestAnimationFrame(() => performance.mark('agentdump-drawn'));
}
