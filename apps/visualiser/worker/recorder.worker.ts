import { expose } from 'comlink';
import { Recorder } from './recorder.ts';

const recorder = new Recorder(
  {
    fetch: (path, init) => fetch(path, init),
    setTimer: (callback, ms) => {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
    now: () => performance.now(),
  },
  MACHINE_DRAWINGS,
);

expose(recorder);
