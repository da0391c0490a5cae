/** Our own lines on standard error: one per call, each beginning with `agentdump:`. Never throws. */
import { writeSync } from 'node:fs';

/** Writes `agentdump: <text>`. Control characters are made visible, so that a message can't control a terminal. */
export function writeStderrLine(text: string): void {
  try {
    const visible = text.replace(
      /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    writeSync(2, `agentdump: ${visible}\n`);
  } catch {
    // Standard error is closed or full; the death continues without our line.
  }
}
