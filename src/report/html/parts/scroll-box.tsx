/** A part of the page that scrolls by itself: labelled, and accessible by keyboard. */
import type { ComponentChildren, CSSProperties, Ref } from 'preact';

interface ScrollBoxProps {
  class: string;
  label: string;
  children: ComponentChildren;
  style?: CSSProperties;
  boxRef?: Ref<HTMLElement>;
  onScroll?: (top: number) => void;
}

export function ScrollBox({ class: name, label, children, style, boxRef, onScroll }: ScrollBoxProps) {
  return (
    <section
      ref={boxRef ?? null}
      class={name}
      {...(style && { style })}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, no key would scroll what is cut off
      tabIndex={0}
      onScroll={(event) => onScroll?.(event.currentTarget.scrollTop)}
    >
      {children}
    </section>
  );
}
