/**
 * What we were given beyond the three standard streams, and hand on under the same numbers. Node marks every descriptor
 * that it finds at its start to be closed in its children, so that they must be named. Its own come after ours: the
 * first of them is its loop's epoll (seen on Node 20, 22, 24, 26). A descriptor above a free number is not found.
 */
import type { StdioOptions } from 'node:child_process';
import { platform } from '../../platform/index.ts';

const first = 3;
/** libuv marks no more than these, and goes on above them only while there is no hole. */
const most = 64;

/** For a child: our streams, and what else was given to us; the channel to a Node parent is one of its own. */
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
