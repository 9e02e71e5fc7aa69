package dev.millrace.testing.harness;

import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * What differs between two runs of one script, all of it drawn from a seed. Variation 0 is the script as plainly as can
 * be: the reference of all others.
 *
 * @param batchRows rows the operator is asked to put in a batch
 * @param chunkRows rows of an input batch, at most; each batch draws its own number up to it
 * @param emptyBatches whether empty batches are mixed in
 * @param explicitWeights whether rows that all count once come with a column of weights
 * @param fullOutput whether the output is full after a few batches
 * @param watchInputs whether inputs are held on to, to see that nobody writes to them (an operator may reuse what nobody
 *     else holds, so both ways matter)
 * @param savePercent how often an epoch ends with the begin of a checkpoint that operators go on behind
 * @param restartPercent how often an epoch ends with a snapshot and a restart
 * @param mostInstances instances after a restart, at most
 */
record Variation(
        long seed,
        int batchRows,
        int chunkRows,
        boolean emptyBatches,
        boolean explicitWeights,
        boolean fullOutput,
        boolean watchInputs,
        int savePercent,
        int restartPercent,
        int mostInstances) {
    private static final int[] SIZES = {1, 2, 3, 7, 16, 64, 1000, 4096};

    static Variation plain(long seed) {
        return new Variation(seed, 4096, 4096, false, false, false, true, 0, 0, 1);
    }

    static Variation random(long seed, boolean weightsAllowed, boolean splittable) {
        RandomGenerator random = new SplittableRandom(seed);
        return new Variation(
                seed,
                SIZES[random.nextInt(SIZES.length)],
                SIZES[random.nextInt(SIZES.length)],
                random.nextInt(4) == 0,
                weightsAllowed && random.nextInt(3) == 0,
                random.nextBoolean(),
                random.nextBoolean(),
                random.nextBoolean() ? 0 : random.nextInt(80),
                random.nextBoolean() ? 0 : 10 + random.nextInt(90),
                splittable ? 1 + random.nextInt(4) : 1);
    }
}
