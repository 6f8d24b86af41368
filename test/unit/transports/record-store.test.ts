import { describe, expect, it } from 'vitest';
import { recordStore } from '../../../transports/libp2p/record-store.ts';

type Store = ReturnType<typeof recordStore>;
type Key = Parameters<Store['put']>[0];

const key = (name: string): Key => ({ toString: () => name }) as Key;
const record = (topic: number): Key => key(`/dht/provider/topic-${topic}/peer`);
const VALUE = new Uint8Array(8);

describe('What a node of the DHT keeps', () => {
  it('is the newest of the records, whatever comes, and everything else', async () => {
    const store = recordStore(3);
    await store.put(key('/peers/one'), VALUE);
    for (let topic = 0; topic < 3; topic++) await store.put(record(topic), VALUE);
    await store.put(record(0), VALUE);
    await store.put(key('/peers/other'), VALUE);
    for (let topic = 3; topic < 5; topic++) await store.put(record(topic), VALUE);
    const kept = [0, 1, 2, 3, 4].filter((topic) => store.has(record(topic)));
    expect(kept).toEqual([0, 3, 4]);
    expect([store.has(key('/peers/one')), store.has(key('/peers/other'))]).toEqual([true, true]);
  });

  it('has room for another once one was deleted', async () => {
    const store = recordStore(2);
    for (let topic = 0; topic < 2; topic++) await store.put(record(topic), VALUE);
    await store.delete(record(1));
    await store.put(record(2), VALUE);
    expect([0, 1, 2].map((topic) => store.has(record(topic)))).toEqual([true, false, true]);
  });
});
