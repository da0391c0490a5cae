/** Shows what could not be loaded, and why. */
import { addressOf } from '../state.ts';

export function Failed({ what, reason }: { what: string; reason: string }) {
  return (
    <>
      <h1>{what}</h1>
      <p class="gap" role="alert">
        This cannot be shown: {reason}
      </p>
      <p class="desk-links">
        <a href={location.pathname + location.search}>Try again</a>
        <a href={addressOf('')}>All that is open</a>
      </p>
    </>
  );
}
