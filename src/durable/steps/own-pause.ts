/** Pauses of our own, counted: what waits for a person or for the next try is nothing that could wake the program. */
let atWork = 0;

export async function ownPause(ms: number): Promise<void> {
  atWork++;
  try {
    await new Promise((resolve) => setTimeout(resolve, ms));
  } finally {
    atWork--;
  }
}

export const ownPausesAtWork = (): number => atWork;
