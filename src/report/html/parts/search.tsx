/** The search: a field, and below it the results, each a link to its place. */
import { useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { findIn, searchIndex } from '../search-index.ts';
import { account, goTo } from '../state.ts';

const most = 40;
const pauseMs = 120;

export function Search() {
  const query = useSignal('');
  const isOpen = useSignal(false);
  const chosen = useSignal(0);
  const timer = useRef(0);
  const found = useMemo(
    () => (query.value.length < 2 ? [] : findIn(searchIndex(account), query.value, most)),
    [query.value],
  );
  const open = (at: number) => {
    const hit = found[at];
    if (!hit) return;
    isOpen.value = false;
    goTo(hit.anchor);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      isOpen.value = false;
      (event.currentTarget as HTMLElement).blur();
    } else if (event.key === 'Enter') open(chosen.value);
    else if (event.key === 'ArrowDown') chosen.value = Math.min(chosen.value + 1, found.length - 1);
    else if (event.key === 'ArrowUp') chosen.value = Math.max(chosen.value - 1, 0);
    else return;
    event.preventDefault();
  };
  const isShown = isOpen.value && query.value.length >= 2;
  return (
    <search class="search">
      <input
        id="search"
        type="text"
        placeholder="Search  /"
        aria-label="Search the account"
        role="combobox"
        aria-expanded={isShown}
        aria-controls="found"
        aria-autocomplete="list"
        aria-activedescendant={isShown && found.length ? `found-${chosen.value}` : undefined}
        autocomplete="off"
        spellcheck={false}
        onFocus={() => {
          isOpen.value = true;
        }}
        onBlur={() => {
          isOpen.value = false;
        }}
        onInput={(event) => {
          const { value } = event.currentTarget;
          clearTimeout(timer.current);
          timer.current = setTimeout(() => {
            query.value = value;
            chosen.value = 0;
            isOpen.value = true;
          }, pauseMs);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="found" class="found" role="listbox" aria-label="Found" hidden={!isShown}>
        {found.map(({ section, before, match, after, anchor }, at) => (
          <div
            key={`${anchor} ${at}`}
            id={`found-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === chosen.value}
            onMouseDown={(event) => {
              event.preventDefault();
              open(at);
            }}
          >
            <span class="found-section">{section}</span>
            <span class="found-text">
              {before}
              <mark>{match}</mark>
              {after}
            </span>
          </div>
        ))}
        {isShown && !found.length ? (
          <div role="option" tabIndex={-1} aria-selected={false} aria-disabled="true">
            Nothing found
          </div>
        ) : null}
        {found.length === most ? (
          <div role="option" tabIndex={-1} aria-selected={false} aria-disabled="true">
            The first {most}
          </div>
        ) : null}
      </div>
    </search>
  );
}
