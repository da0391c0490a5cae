/** Where a query is typed: completed at the cursor by what the heap has, with the history on the arrow keys. */
import { type Signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Completion } from '../../heap/questions.ts';
import { ask } from './ask.ts';

interface QueryFieldProps {
  typed: Signal<string>;
  onRun: () => void;
  /** 1: the query before; -1: the one after. */
  onRecall: (by: 1 | -1) => void;
}

const none: Completion = { from: 0, to: 0, options: [] };
const optionId = (n: number): string => `completion-${n}`;

export function QueryField({ typed, onRun, onRecall }: QueryFieldProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const offered = useSignal(none);
  const chosen = useSignal(-1);
  const newest = useRef(0);
  const { options } = offered.value;

  const close = () => {
    newest.current++;
    offered.value = none;
    chosen.value = -1;
  };
  /** What was offered for another text is gone at once, and an answer that comes after the next key is not shown. */
  const complete = async () => {
    close();
    const turn = newest.current;
    const { value, selectionStart } = field.current!;
    const answer = await ask({ ask: 'complete', text: value, caret: selectionStart }).catch(() => none);
    if (turn === newest.current) offered.value = answer;
  };
  const accept = (n: number) => {
    const { from, to } = offered.value;
    const option = options[n];
    if (!field.current || !option) return;
    field.current.focus();
    field.current.setRangeText(option.text, from, to, 'end');
    // Between the brackets of a function.
    const caret = field.current.selectionStart - (option.text.endsWith('()') ? 1 : 0);
    field.current.setSelectionRange(caret, caret);
    typed.value = field.current.value;
    close();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { value, selectionStart } = field.current!;
    const isOpen = options.length > 0;
    if (event.key === ' ' && event.ctrlKey) void complete();
    else if (isOpen && event.key === 'ArrowDown')
      chosen.value = Math.min(options.length - 1, chosen.value + 1);
    else if (isOpen && event.key === 'ArrowUp' && chosen.value >= 0) chosen.value--;
    else if (isOpen && event.key === 'Tab' && !event.shiftKey) accept(Math.max(0, chosen.value));
    else if (isOpen && event.key === 'Enter' && chosen.value >= 0) accept(chosen.value);
    else if (isOpen && event.key === 'Escape') close();
    else if (event.key === 'Enter' && !event.shiftKey) {
      close();
      onRun();
    } else if (event.key === 'ArrowUp' && !value.slice(0, selectionStart).includes('\n')) {
      close();
      onRecall(1);
    } else if (event.key === 'ArrowDown' && !value.slice(selectionStart).includes('\n')) {
      close();
      onRecall(-1);
    } else if (event.key === 'Escape') field.current!.blur();
    else return;
    event.preventDefault();
  };
  return (
    <div class="query-field">
      <textarea
        ref={field}
        id="search"
        rows={2}
        aria-label="Query"
        aria-autocomplete="list"
        aria-controls="completions"
        {...(chosen.value >= 0 && { 'aria-activedescendant': optionId(chosen.value) })}
        spellcheck={false}
        value={typed.value}
        placeholder="class = Session and retained > 1MB"
        onInput={(event) => {
          typed.value = event.currentTarget.value;
          void complete();
        }}
        onKeyDown={onKeyDown}
        onBlur={close}
      />
      <div
        class="completions"
        id="completions"
        role="listbox"
        aria-label="Completions"
        hidden={options.length === 0}
      >
        {options.map(({ text, what }, n) => (
          <div
            key={text}
            id={optionId(n)}
            role="option"
            tabIndex={-1}
            aria-selected={n === chosen.value}
            // Before the field loses the focus.
            onMouseDown={(event) => {
              event.preventDefault();
              accept(n);
            }}
          >
            <code>{text}</code> <span class="faint">{what}</span>
          </div>
        ))}
      </div>
    </div>
  );
}
