package dev.millrace.engine.checkpoint;

import dev.millrace.operator.FrozenState;
import dev.millrace.operator.StateFormat;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntFunction;

/**
 * Writes the state of an operator while it goes on, into sections one after the other: one is complete in memory before it goes to the
 * writer, so that nobody waits for this operator meanwhile. One thread, that of the operator.
 */
public final class GradualSections implements AutoCloseable {
    private static final long LARGEST_BYTES = 2 << 20;

    private final Barrier barrier;
    private final Spool spool;
    private final IntFunction<String> name;
    private final long schemaHash;
    private final FrozenState state;
    private final StateChain chain;
    private final List<SectionContents> before; // of earlier checkpoints
    private final Set<StateFormat> formats = new HashSet<>();
    private Optional<SectionOutput> output = Optional.empty();
    private int number;

    GradualSections(
            Barrier barrier,
            Spool spool,
            IntFunction<String> name,
            long schemaHash,
            FrozenState state,
            StateChain chain) {
        this.barrier = barrier;
        this.spool = spool;
        this.name = name;
        this.schemaHash = schemaHash;
        this.state = state;
        this.chain = chain;
        this.before = chain.begin(barrier.number(), state.isWhole());
        this.number = before.size();
    }

    /** Whether what is written next finds room; if not, it is taken nevertheless. */
    public boolean hasRoom() {
        if (spool.hasRoom()) {
            return true;
        }
        end(); // so that it can be written
        return false;
    }

    /** Waits a little for room. */
    public void awaitRoom() {
        spool.awaitRoom();
    }

    /** Writes some more; returns whether all is written. */
    public boolean writeMore() throws IOException {
        if (output.isEmpty()) {
            String section = name.apply(number);
            output = Optional.of(
                    new SectionOutput(spool, section, schemaHash, true, Optional.of(chain.contents(section)))
                            .ofStep(barrier.number()));
        }
        SectionOutput section = output.get();
        boolean last = state.writeMore(section);
        if (last || section.bytes() >= LARGEST_BYTES) {
            end();
        }
        if (last) {
            barrier.keep(before);
            chain.end();
        }
        return last;
    }

    /** Ends the section under way, if there is something in it. */
    private void end() {
        if (output.isPresent() && output.get().bytes() > 0) {
            try (SectionOutput section = output.get()) {
                output = Optional.empty();
                section.finish();
                formats.addAll(section.formats());
                chain.add();
                number++;
            }
        }
    }

    /** Of the states that were written. */
    public Set<StateFormat> formats() {
        return formats;
    }

    @Override
    public void close() {
        state.close();
        output.ifPresent(SectionOutput::close);
        output = Optional.empty();
    }
}
