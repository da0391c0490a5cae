/** All supported runners. How to add one: see ../README.md. */
import { ava } from './ava.ts';
import { jest } from './jest.ts';
import { mocha } from './mocha.ts';
import { nodeTest } from './node-test.ts';
import { playwright } from './playwright.ts';
import type { Runner } from './runner.ts';
import { tap } from './tap.ts';
import { vitest } from './vitest.ts';

/** node:test is last, because any process may use it. */
export const runners: readonly Runner[] = [jest, vitest, mocha, ava, playwright, tap, nodeTest];
