/**
 * Why a process aborted itself: libc's message about a failed assertion or a corrupt heap, an uncaught exception, or the
 * function of Node or V8 that gave up. Read from the stack of the thread that died.
 */
import { whereMapped } from '../../../bytes/memory.ts';
import type { CoreThread } from '../../../formats/elf-core/core-contents.ts';
import type { Thread } from '../../../model/thread.ts';
import type { CoreDump } from '../core-dump.ts';
import { findThrownValue } from '../javascript/thrown-value.ts';
import type { V8Runtime } from '../javascript/v8-runtime.ts';
import { findCppException } from './cpp-exception.ts';
import { findFatalWords } from './fatal-words.ts';
import { findRuntimeAddress } from './module-map.ts';
import { findSymbol } from './native-names.ts';
import { walkNativeStack } from './native-stack.ts';

export type AbortKind =
  | 'uncaught'
  | 'cpp-exception'
  | 'out-of-memory'
  | 'abort-call'
  | 'assertion'
  | 'libc'
  | 'buffer-overflow'
  | 'pure-virtual'
  | 'addon'
  | 'fatal-error';

export interface AbortCause {
  kind: AbortKind;
  /** The message or the exception, if it could be read. */
  text?: string;
  /** The function that aborted. */
  where?: string;
}

const searchedFrames = 24;
/** `abort` and what it calls to send itself the signal. */
const framesOfAbort = 5;
const maxMessage = 4096;
const causes: [RegExp, AbortKind][] = [
  [/^v8::internal::Isolate::CreateMessageOrAbort/, 'uncaught'],
  [/^__cxa_pure_virtual/, 'pure-virtual'],
  // libstdc++ exports no name of the function in which it gives up on an exception that leaves a `noexcept` function.
  [/^__gnu_cxx::__verbose_terminate_handler|^std::terminate|^__gxx_personality_v0/, 'cpp-exception'],
  [/^node::OOMErrorHandler|FatalProcessOutOfMemory|ReportOOMFailure/, 'out-of-memory'],
  [/^node::Assert\(|^__assert_fail/, 'assertion'],
  [/^node::Abort\(v8::|^node::Abort\(v8::FunctionCallbackInfo/, 'abort-call'],
  // Before `__libc_message`, which all of libc's checks end in.
  [/^__stack_chk_fail|^__fortify_fail|^__chk_fail/, 'buffer-overflow'],
  [/^__libc_message|^malloc_printerr/, 'libc'],
  [/^napi_fatal_error$/, 'addon'],
  [
    /^node::OnFatalError|^V8_Fatal|^v8::base::FatalOOM|^v8::Utils::ReportApiFailure|^v8::base::OS::Abort/,
    'fatal-error',
  ],
];

export function findAbortCause(
  dump: CoreDump,
  v8: V8Runtime | undefined,
  died: CoreThread,
  described: Thread | undefined,
): AbortCause | undefined {
  const names = (described?.frames ?? []).slice(0, searchedFrames).map((f) => f.function ?? '');
  for (const [pattern, kind] of causes) {
    const where = names.find((name) => pattern.test(name));
    if (!where) continue;
    const text = findText(kind, dump, v8, died);
    return { kind, where, ...(text ? { text } : {}) };
  }
  // Of a libc without symbols only the exported names are known. It writes its message just before it aborts.
  const where = names.slice(0, framesOfAbort).find((name) => name === 'abort');
  const text = where && findLibcMessage(dump);
  return text
    ? { kind: / Assertion .* failed\.$/s.test(text) ? 'assertion' : 'libc', where, text }
    : undefined;
}

function findText(
  kind: AbortKind,
  dump: CoreDump,
  v8: V8Runtime | undefined,
  died: CoreThread,
): string | undefined {
  if (kind === 'uncaught') return v8 && findThrownValue(dump, v8, died);
  if (kind === 'cpp-exception') return findCppException(died, dump.modules, dump.memory);
  if (kind === 'pure-virtual') return undefined;
  if (kind === 'addon') return findAddonsWords(dump, died);
  return findLibcMessage(dump);
}

function findAddonsWords(dump: CoreDump, died: CoreThread): string | undefined {
  const { frames } = walkNativeStack(dump.machine.registersOf(died), dump, false);
  const at = frames.slice(0, searchedFrames).findIndex((f) => findSymbol(f)?.name === 'napi_fatal_error');
  const [frame, caller] = [frames[at], frames[at + 1]];
  return at >= 0 && frame && caller ? findFatalWords(frame, caller, dump.memory) : undefined;
}

/** glibc stores its last message in `__abort_msg`: a size, which includes itself, then the text. */
function findLibcMessage({ modules, memory }: CoreDump): string | undefined {
  for (const module of modules.modules) {
    const symbol = module.code?.findExported('__abort_msg');
    const address = symbol && findRuntimeAddress(module, symbol.address);
    if (address === undefined) continue;
    return whereMapped(() => {
      const message = memory.readWord(address);
      if (!message) return undefined;
      const size = Math.min(memory.readUint32(message) - 4, maxMessage);
      const bytes = Buffer.from(memory.readBytes(message + 4, size));
      const end = bytes.indexOf(0);
      return bytes.toString('utf8', 0, end < 0 ? size : end).trim() || undefined;
    });
  }
  return undefined;
}
