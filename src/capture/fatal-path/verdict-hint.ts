/**
 * The verdict kind in a bundle's folder name, from the trigger and the thrown value alone: a first guess for people who list
 * the folder, from the same table that the analysis reads. The analysis decides with all the data.
 */
import {
  type Circumstances,
  isFrameOfLoader,
  isHang,
  kindOfThrown,
  kindOfTrigger,
  type ThrownSigns,
} from '../../bundle/layout/verdict-codes.ts';
import { causesOf } from '../host/cause-chain.ts';
import { findField } from '../host/read-field.ts';
import type { InsideKind } from './request.ts';

export function hintVerdictKind(kind: InsideKind, thrown: unknown, circumstances: Circumstances): string {
  if (kind === 'uncaught-exception' || kind === 'unhandled-rejection')
    return kindOfThrown(kind, causesOf(thrown).map(readSigns), circumstances);
  const { stall } = circumstances;
  return kindOfTrigger[kind === 'signal' && stall && isHang(stall) ? 'stall' : kind];
}

function readSigns(thrown: unknown): ThrownSigns {
  const [code = '', stack = '', call, message] = ['code', 'stack', 'syscall', 'message'].map((name) => {
    const value = findField(thrown, name);
    return typeof value === 'string' ? value.slice(0, 8192) : '';
  });
  return { code, said: `${call} ${message}`, isLoaders: isCompileError(stack) };
}

function isCompileError(stack: string): boolean {
  if (!/^(?:.*\n){0,12}?SyntaxError\b/.test(stack)) return false;
  return isFrameOfLoader(/^\s+at .*$/m.exec(stack)?.[0] ?? '');
}
