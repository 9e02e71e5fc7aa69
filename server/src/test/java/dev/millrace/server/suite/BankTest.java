package dev.millrace.server.suite;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/**
 * Whatever is shown is a whole epoch: the bank's total is zero in every row that views, subscribers and sinks ever show,
 * with one to four workers. {@code -Dmillrace.bank.totals=N} sets after how many it ends (20,000), {@code
 * -Dmillrace.bank.seed=S} the seed of the first bank, which a failure names.
 */
class BankTest {
    private static final long TOTALS = Long.getLong("millrace.bank.totals", 20_000);
    private static final long SEED = Long.getLong("millrace.bank.seed", 1);
    private static final long MOST_OF_A_BANK = 500_000;
    private static final int LEAST_BANKS = 4;

    @Test
    void theTotalIsZeroInEveryOutput() throws InterruptedException {
        long seen = 0;
        for (long seed = SEED; seen < TOTALS; seed++) {
            long ofThis = Math.min(MOST_OF_A_BANK, Math.max(TOTALS / LEAST_BANKS, 1));
            try (Bank bank = new Bank(seed)) {
                seen += bank.run(ofThis);
            } catch (AssertionError e) {
                throw new AssertionError(e.getMessage() + " (seed " + seed + ")", e);
            }
            if (TOTALS > MOST_OF_A_BANK) {
                System.out.printf("%,d of %,d totals are zero, seeds %d to %d%n", seen, TOTALS, SEED, seed);
            }
        }
        assertTrue(seen >= TOTALS);
    }
}
