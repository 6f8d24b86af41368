import { MemoryDatastore } from 'datastore-core/memory';

type Key = Parameters<MemoryDatastore['put']>[0];

/** Where the DHT keeps who provides what. */
const RECORDS = '/dht/provider/';
/** Each answer looks through all of them. */
const MAX_RECORDS = 4_096;

/** What a node of the DHT keeps, with no more than so many records of others: the newest stay. */
export function recordStore(maxRecords = MAX_RECORDS): MemoryDatastore {
  const store = new MemoryDatastore();
  const put = store.put.bind(store);
  const remove = store.delete.bind(store);
  /** Oldest first. */
  const records = new Map<string, Key>();
  store.delete = (key, options) => {
    records.delete(key.toString());
    return remove(key, options);
  };
  store.put = (key, value, options) => {
    const name = key.toString();
    if (name.startsWith(RECORDS)) {
      records.delete(name);
      const [oldest] = records.values();
      if (oldest !== undefined && records.size >= maxRecords) void store.delete(oldest);
      records.set(name, key);
    }
    return put(key, value, options);
  };
  return store;
}
