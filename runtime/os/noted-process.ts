import { z } from 'zod';
import { identityOf, isAlive, ProcessIdentity } from './process-identity.ts';

/** A process as it is noted for later. Where the system does not say when one began, there is only its number. */
export const NotedProcess = z.union([ProcessIdentity, z.strictObject({ pid: z.int().positive() })]);
export type NotedProcess = z.infer<typeof NotedProcess>;

/** This process, to be noted. What it starts is not known by that. */
export function noteOfThisProcess(): NotedProcess {
  const { pid } = process;
  const identity = identityOf(pid);
  return identity === undefined ? { pid } : { pid, start: identity.start, machine: identity.machine };
}

/** The process that a text notes; undefined if it is no note. */
export function notedProcessIn(text: string): NotedProcess | undefined {
  try {
    return NotedProcess.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** That process is there. Of one that has only a number: any process of this user that has it. */
export function isNotedAlive(noted: NotedProcess): boolean {
  if ('start' in noted) return isAlive(noted);
  try {
    return process.kill(noted.pid, 0);
  } catch {
    return false;
  }
}
