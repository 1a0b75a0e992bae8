// Loaded before a process's own code where libfaketime is missing: its calendar is off by CLOCK_SKEW_SECONDS. The monotonic clock is left alone, as it is by a wrong clock.
const skewMs = Number(process.env.CLOCK_SKEW_SECONDS) * 1000;
const Real = Date;

globalThis.Date = class Date extends Real {
  constructor(...parts) {
    if (parts.length === 0) super(Real.now() + skewMs);
    else super(...parts);
  }

  static now() {
    return Real.now() + skewMs;
  }
};
