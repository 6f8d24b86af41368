import type { Reading } from './measurement.ts';
import { spreadOf } from './statistics.ts';

/** What was read several times: the median, and all of it. */
export const repeatedReading = (
  values: readonly number[],
  rest: Omit<Reading, 'value' | 'values'>,
): Reading => ({ ...rest, value: spreadOf(values).median, values });
