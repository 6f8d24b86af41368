import { MemoryMedium, MemoryStore } from '../../runtime/journal/memory-store.ts';
import { storeSuite } from './store.suite.ts';

storeSuite('MemoryStore', () => {
  const medium = new MemoryMedium();
  return {
    open: async () => new MemoryStore({ medium }),
    discard: async () => undefined,
  };
});
