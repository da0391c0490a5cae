/** The entry point of every document: draws the view that its state selects. */
import { render } from 'preact';
import { goTo, target, watchSurroundings } from '../../report/html/state.ts';
import { Desk } from './desk.tsx';
import { watchPlace } from './heap/place.ts';
import { installKeys } from './keys.ts';
import { state } from './state.ts';

const root = document.getElementById('page');
if (root) {
  root.replaceChildren();
  watchSurroundings();
  installKeys();
  if (state.view === 'heap' || state.view === 'memory') watchPlace();
  render(<Desk state={state} />, root);
  // Turned off while the document was loading.
  addEventListener('load', () => requestAnimationFrame(() => (history.scrollRestoration = 'auto')));
  goTo(target.value);
  requestAnimationFrame(() => performance.mark('agentdump-drawn'));
}
