/** The exception record of real deaths: nine kinds of fault, aborts, a breakpoint and a stack overflow. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { openCoreDump } from '../../../../src/analysis/core/core-dump.ts';
import { describeFault } from '../../../../src/analysis/core/fault/fault.ts';
import type { Fault } from '../../../../src/analysis/core/fault/fault-facts.ts';
import { makeCore, noCores, victims } from '../../../support/cores/core-victims.ts';
import { nodesInTurn } from '../../../support/run/test-nodes.ts';

type Wanted = Partial<Pick<Fault, 'kind' | 'signalName' | 'code' | 'address' | 'access'>> & {
  flags?: string[];
};

const deaths: Record<string, Wanted> = {
  'write-null': {
    kind: 'null-dereference',
    signalName: 'SIGSEGV',
    code: 'SEGV_MAPERR',
    address: 0n,
    access: 'write',
  },
  'read-null': {
    kind: 'null-dereference',
    signalName: 'SIGSEGV',
    code: 'SEGV_MAPERR',
    address: 0x18n,
    access: 'read',
  },
  'write-read-only': { kind: 'write-to-read-only', code: 'SEGV_ACCERR', address: 0x401000n, access: 'write' },
  'wild-jump': { kind: 'wild-jump', signalName: 'SIGSEGV', address: 0x1234n, access: 'execute' },
  'non-canonical': { kind: 'non-canonical-address', signalName: 'SIGSEGV' },
  privileged: { kind: 'privileged-instruction', signalName: 'SIGSEGV' },
  illegal: { kind: 'illegal-instruction', signalName: 'SIGILL', code: 'ILL_ILLOPN' },
  divide: { kind: 'arithmetic', signalName: 'SIGFPE', code: 'FPE_INTDIV' },
  breakpoint: { kind: 'trap', signalName: 'SIGTRAP' },
  abort: { kind: 'abort', signalName: 'SIGABRT' },
  'stack-overflow': { kind: 'stack-overflow', signalName: 'SIGSEGV', flags: ['--stack-size=60000'] },
};

for (const node of nodesInTurn)
  suite(`Node ${node.major}`, { skip: noCores }, () => {
    for (const [kind, { flags = [], ...wanted }] of Object.entries(deaths))
      test(kind, () => {
        const death = makeCore(node.path, [...flags, join(victims, 'deaths.cjs'), kind]);
        try {
          const dump = openCoreDump(death.core);
          const [thread] = dump.core.threads;
          assert.ok(thread);
          const fault = describeFault(dump.core, thread, dump.memory, dump.machine);
          dump.close();
          for (const [name, value] of Object.entries(wanted))
            assert.equal(fault?.[name as 'kind'], value, name);
        } finally {
          death.remove();
        }
      });
  });
