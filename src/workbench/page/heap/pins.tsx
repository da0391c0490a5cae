/** Objects that the reader has pinned: always in sight, one click or digit away. Kept for this browser session only. */
import { signal } from '@preact/signals';
import type { ObjectRow } from '../../heap/questions.ts';
import { state } from '../state.ts';
import { place, toObject } from './place.ts';

type Pin = Pick<ObjectRow, 'id' | 'class'>;

const mostPins = 20;
const memory = `agentdump-pins ${state.view === 'heap' ? state.item.id : ''}`;

const pins = signal<readonly Pin[]>(remembered());

function remembered(): Pin[] {
  try {
    const list: unknown = JSON.parse(sessionStorage.getItem(memory) ?? '[]');
    return Array.isArray(list) ? list.filter(isPin) : [];
  } catch {
    return [];
  }
}

function isPin(value: unknown): value is Pin {
  const { id, class: name } = (value ?? {}) as Partial<Pin>;
  return typeof id === 'number' && typeof name === 'string';
}

function toggle({ id, class: name }: Pin): void {
  const others = pins.value.filter((pin) => pin.id !== id);
  pins.value = others.length < pins.value.length ? others : [...others, { id, class: name }].slice(-mostPins);
  sessionStorage.setItem(memory, JSON.stringify(pins.value));
}

export function PinButton({ object }: { object: Pin }) {
  const isPinned = pins.value.some(({ id }) => id === object.id);
  return (
    <button type="button" class="button" data-pin aria-pressed={isPinned} onClick={() => toggle(object)}>
      {isPinned ? 'Unpin' : 'Pin'}
    </button>
  );
}

export function Pins() {
  if (pins.value.length === 0) return null;
  const current = place.value['view'] === 'object' ? Number(place.value['id']) : undefined;
  return (
    <nav class="pins" aria-label="Pinned objects">
      <span class="faint">Pinned</span>
      <ul>
        {pins.value.map(({ id, class: name }) => (
          <li key={id}>
            <a class="object" href={toObject(id)} aria-current={id === current ? 'page' : undefined}>
              <span class="object-class">{name}</span> <span class="object-id">@{id}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
