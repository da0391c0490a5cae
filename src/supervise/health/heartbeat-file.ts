/** The file that a program without our journal touches as a sign of life. Its modification time counts. */
import { join } from 'node:path';

export const heartbeatVariable = 'AGENTDUMP_HEARTBEAT_FILE';

export function heartbeatFile(sessionFolder: string): string {
  return join(sessionFolder, 'heartbeat');
}
