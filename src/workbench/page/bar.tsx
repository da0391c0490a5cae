/** The bar of every view except an account: the way home, the theme, the keys. */

import { Help } from '../../report/html/parts/help.tsx';
import { type BarLink, BarLinks, HelpButton, Mark, ThemeButton } from '../../report/html/parts/top-bar.tsx';
import { keysOfView } from './keys.ts';
import { addressOf } from './state.ts';

interface BarProps {
  links: readonly BarLink[];
  /** What is shown, if the view does not say so itself. */
  name?: string | undefined;
}

export function Bar({ links, name }: BarProps) {
  return (
    <>
      <header class="top-bar">
        <a class="brand" href={addressOf('')} aria-label="agentdump: all that is open">
          <Mark />
          <span class="brand-name">agentdump</span>
        </a>
        {name ? (
          <span class="brand-program" title={name}>
            {name}
          </span>
        ) : null}
        <BarLinks links={links} />
        <ThemeButton />
        <HelpButton />
      </header>
      <Help keys={keysOfView()} note="Every view has an address of its own; back and forward work." />
    </>
  );
}
