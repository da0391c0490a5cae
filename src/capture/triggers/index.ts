/** Every trigger that runs inside the program. Adding one: see ../README.md. */
import { exceptionsTrigger } from './exceptions.ts';
import { exitTrigger } from './exit.ts';
import { rejectionsTrigger } from './rejections.ts';
import { signalsTrigger } from './signals.ts';
import type { Trigger } from './trigger.ts';
import { workersTrigger } from './workers.ts';

export const triggers: readonly Trigger[] = [
  exceptionsTrigger,
  rejectionsTrigger,
  exitTrigger,
  signalsTrigger,
  workersTrigger,
];
