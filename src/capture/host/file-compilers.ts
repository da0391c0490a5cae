/** The functions with which Node compiles CommonJS files: a hook (@babel/register, pirates, a profiler) replaces one of them. */
import type { Module } from 'node:module';
import { descriptorOf, getBuiltinModule } from './intrinsics/intrinsics.ts';

export function fileCompilers(): unknown[] {
  const { _extensions, prototype } = getBuiltinModule('node:module') as unknown as {
    _extensions: object;
    prototype: Module;
  };
  return [
    descriptorOf(_extensions, '.js')?.value,
    descriptorOf(_extensions, '.cjs')?.value,
    descriptorOf(prototype, '_compile')?.value,
  ];
}
