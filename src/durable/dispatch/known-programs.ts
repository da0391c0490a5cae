/** The programs that workers of this process have, so that a queued run is begun by no other function. */

const known = new Map<string, WeakSet<object>>();

export function registerPrograms(programs: Readonly<Record<string, object>>): void {
  for (const [name, program] of Object.entries(programs)) {
    const functions = known.get(name) ?? new WeakSet();
    known.set(name, functions.add(program));
  }
}

export const isKnownProgram = (name: string, program: object): boolean =>
  known.get(name)?.has(program) ?? false;
