/**
 * The file descriptors that we inherited beyond the three standard streams. They are passed on under the same numbers. At
 * startup Node marks all open descriptors close-on-exec, so they have to be listed for the child. Node's own descriptors
 * follow the inherited ones: the first is the epoll descriptor of its loop (seen on Node 20, 22, 24, 26). A descriptor above
 * an unused number is not found.
 */
import type { StdioOptions } from 'node:child_process';
import { platform } from '../../platform/index.ts';

const first = 3;
/** Limit of the search. libuv marks the first 16 descriptors in any case, and further ones up to the first unused number. */
const most = 64;

/**
 * The `stdio` option for a child: our streams and the other inherited descriptors. The child gets a channel of its own in
 * place of ours to a Node parent.
 */
export function inheritedStdio(): StdioOptions {
  const channel = channelDescriptor();
  const further: ('inherit' | 'ipc')[] = [];
  for (let fd = first; fd < most && isGiven(fd); fd++) further.push(fd === channel ? 'ipc' : 'inherit');
  return further.length === 0 ? 'inherit' : ['inherit', 'inherit', 'inherit', ...further];
}

function isGiven(fd: number): boolean {
  const target = platform.processLink('self', `fd/${fd}`);
  return target !== undefined && target !== 'anon_inode:[eventpoll]';
}

function channelDescriptor(): number | undefined {
  return process.connected ? (process.channel as { fd?: number } | undefined)?.fd : undefined;
}
