package dev.millrace.expressions.kernel;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Several kernels as one, for projections too many for one class: each computes some, the first has the condition. */
public final class DividedKernel extends CalcKernel {
    private final List<CalcKernel> kernels;
    private final int[] projections; // how many of each kernel

    /** @param kernels which this closes */
    public DividedKernel(KernelConstants none, List<CalcKernel> kernels, int[] projections) {
        super(none);
        this.kernels = kernels;
        this.projections = projections;
    }

    @Override
    public void begin(int rows, long newNowMicros) {
        for (CalcKernel kernel : kernels) {
            kernel.begin(rows, newNowMicros);
        }
    }

    @Override
    public int select(Batch in, int[] selected) {
        return kernels.get(0).select(in, selected);
    }

    @Override
    public void project(Batch in, int[] selected, int count, OutputColumn[] out) {
        int from = 0;
        for (int i = 0; i < projections.length; i++) {
            int to = from + projections[i];
            kernels.get(i).project(in, selected, count, Arrays.copyOfRange(out, from, to));
            from = to;
        }
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(kernels);
        all.add(super::close);
        Closing.all(all);
    }
}
