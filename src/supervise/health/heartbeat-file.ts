/** The file that a program without our journal touches (its modification time counts) as a sign of life. */
import { join } from 'node:path';

export const heartbeatVariable = 'AGENTDUMP_HEARTBEAT_FILE';

export function heartbeatFile(sessionFolder: string): string {
  return join(sessionFolder, 'heartbeat');
}
