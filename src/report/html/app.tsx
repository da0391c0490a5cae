/** The page: a bar, the list of sections, and the sections that have contents. */
import { Component, type ComponentChildren } from 'preact';
import { keyTable } from './keys.ts';
import { Help } from './parts/help.tsx';
import { Navigation } from './parts/navigation.tsx';
import { type BarLink, TopBar } from './parts/top-bar.tsx';
import { type SectionEntry, sections } from './sections.tsx';
import { account } from './state.ts';

/** @param links further pages, for a program that shows more than this account. */
export function App({ links = [] }: { links?: readonly BarLink[] }) {
  const shown = sections.filter(({ isThere }) => isThere(account));
  return (
    <>
      <a class="skip" href="#verdict">
        To the verdict
      </a>
      <TopBar account={account} links={links} />
      <div class="frame">
        <Navigation sections={shown} account={account} />
        <main>
          {shown.map((entry) => (
            <Section key={entry.id} entry={entry} />
          ))}
        </main>
      </div>
      <Help
        keys={keyTable}
        note="Every frame, step, call and message has an address of its own: open it, and copy the link."
      />
    </>
  );
}

function Section({ entry: { id, title, Body } }: { entry: SectionEntry }) {
  return (
    <section id={id} aria-labelledby={`${id}-title`} class={`section section-${id}`}>
      {title === undefined ? null : <h2 id={`${id}-title`}>{title}</h2>}
      <Fence>
        <Body account={account} />
      </Fence>
    </section>
  );
}

/** An error boundary: a section that can't be rendered says so, and the others are not affected. */
class Fence extends Component<{ children: ComponentChildren }, { error?: Error }> {
  override state: { error?: Error } = {};

  override componentDidCatch(error: Error): void {
    this.setState({ error });
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return <p class="gap">This section cannot be shown: {error.message}. The command line shows it.</p>;
  }
}
