import type { JournalThreadOptions } from '../journal/journal-thread.ts';
import type { NodeBoot } from '../thread/thread-host.ts';
import type { ControlOptions } from './control-deps.ts';
import type { ThreadMemories } from './thread-incarnation.ts';

/** What a thread is started as. Ports are still in the form in which they crossed. */
export type ThreadBoot =
  | {
      readonly role: 'place';
      readonly boot: NodeBoot;
      readonly workerOptions: unknown;
      readonly api: unknown;
    }
  /** Gets ready to be a place, and becomes one by the first message on its line: the boot data of that place. */
  | { readonly role: 'spare-place'; readonly workerOptions: unknown }
  /** Gets ready to be the control thread, and becomes it in the same way. */
  | { readonly role: 'spare-control' }
  | {
      readonly role: 'journal';
      readonly options: JournalThreadOptions;
      readonly accounts: SharedArrayBuffer;
      readonly api: unknown;
    }
  | {
      readonly role: 'control';
      readonly options: ControlOptions;
      readonly workerOptions: unknown;
      readonly hostIncarnation: ThreadMemories;
      readonly hostLine: unknown;
      readonly hostApi: unknown;
      readonly api: unknown;
      readonly accounts: SharedArrayBuffer;
      readonly agentWords: SharedArrayBuffer;
      readonly beat: SharedArrayBuffer;
    };
