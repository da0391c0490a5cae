/** The bar at the top: the program that died, the search, the theme. */
import type { Account } from '../../../model/account.ts';
import { testOf } from '../../../model/tests.ts';
import { nextTheme } from '../keys.ts';
import { isHelpShown, theme } from '../state.ts';
import { Search } from './search.tsx';

export interface BarLink {
  name: string;
  href: string;
}

export function TopBar({ account, links }: { account: Account; links: readonly BarLink[] }) {
  const program = programOf(account);
  return (
    <header class="top-bar">
      <a class="brand" href="#verdict">
        <Mark />
        <span class="brand-name">agentdump</span>
        {program ? <span class="brand-program">{program}</span> : null}
      </a>
      <BarLinks links={links} />
      <Search />
      <ThemeButton />
      <HelpButton />
    </header>
  );
}

export function BarLinks({ links }: { links: readonly BarLink[] }) {
  if (!links.length) return null;
  return (
    <nav class="bar-links" aria-label="Elsewhere">
      {links.map(({ name, href }) => (
        <a key={name} href={href}>
          {name}
        </a>
      ))}
    </nav>
  );
}

export function ThemeButton() {
  return (
    <button type="button" class="quiet" onClick={nextTheme} aria-label={`Colours: ${theme.value}`}>
      <span aria-hidden="true">{{ system: '◐', dark: '☾', light: '☀' }[theme.value]}</span>
    </button>
  );
}

export function HelpButton() {
  return (
    <button
      type="button"
      class="quiet"
      aria-label="Keyboard"
      onClick={() => {
        isHelpShown.value = true;
      }}
    >
      <span aria-hidden="true">?</span>
    </button>
  );
}

/** The logo: a pulse that becomes a flat line. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 28 16" width="28" height="16" aria-hidden="true">
      <path d="M1 8h6l2.5-6 4 12 2.5-6h2" />
      <path class="mark-flat" d="M18 8h9" />
    </svg>
  );
}

/** The script's name as a person would write it. In a test run, the script is a file of the runner. */
function programOf({ process, bundle }: Account): string {
  const script = testOf(process?.test)?.file ?? process?.test?.file ?? process?.argv?.[1] ?? '';
  return script.split('/').at(-1) || (bundle?.path.split('/').at(-1) ?? '');
}
