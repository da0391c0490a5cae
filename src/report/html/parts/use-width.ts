/** The current width of an element, in CSS pixels. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

export function useWidth<E extends HTMLElement>(atFirst: number) {
  const ref = useRef<E>(null);
  const width = useSignal(atFirst);
  useEffect(() => {
    if (!ref.current) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) width.value = Math.max(200, Math.floor(entry.contentRect.width));
    });
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return { ref, width: width.value };
}
