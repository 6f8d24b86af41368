import type { Mail } from '../mailbox/mail.ts';

/** As many ids of one sender as every agent remembers, with room to spare. */
const IDS_A_SENDER = 1_000;
/** As many senders. */
const SENDERS = 60;

/** Numbers by id. */
type Ids = Map<string, number>;

/** The envelopes that agents began on whose ids their senders give again when they try again. */
export class DerivedIds {
  /** By recipient and sender. */
  readonly #recipients = new Map<string, Map<string, Ids>>();

  clear(): void {
    this.#recipients.clear();
  }

  /** An agent begins on the mail. Returns the number of another one with the same id that it had begun on before. */
  begun({ sender, id, kept }: Mail, recipient: string): number | undefined {
    const ids = this.#idsOf(recipient, sender);
    const former = ids.get(id);
    putLast(ids, id, kept, IDS_A_SENDER);
    return former === kept ? undefined : former;
  }

  #idsOf(recipient: string, sender: string): Ids {
    const senders = this.#recipients.get(recipient) ?? new Map<string, Ids>();
    this.#recipients.set(recipient, senders);
    const ids = senders.get(sender) ?? new Map<string, number>();
    putLast(senders, sender, ids, SENDERS);
    return ids;
  }
}

/** The entry stands last; of more than so many the first is forgotten. */
function putLast<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [first] = map.keys();
  if (map.size > most && first !== undefined) map.delete(first);
}
