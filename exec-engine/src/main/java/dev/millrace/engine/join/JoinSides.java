package dev.millrace.engine.join;

import dev.millrace.batch.Owned;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import org.apache.arrow.memory.BufferAllocator;

/** The two inputs of a join by keys: what reads each, over keys that agree, and a row of NULLs of each. */
final class JoinSides implements AutoCloseable {
    private final Owned owned = new Owned();
    private final KeyLayout keys;
    private final JoinSide[] sides = new JoinSide[2]; // left, right, as what follows
    private final RowColumns[] columns = new RowColumns[2];
    private final long[] nullRows = new long[2];

    /** @throws IllegalArgumentException if keys have different scales: their numbers are not those of equal values */
    JoinSides(Join node, BufferAllocator allocator) {
        Schema left = node.left().schema();
        Schema right = node.right().schema();
        requireSameScales(node);
        this.keys = new KeyLayout(JoinSide.notNull(left), node.leftKeys());
        try {
            sides[0] = owned.own(new JoinSide(left, keys, node.leftKeys(), allocator));
            sides[1] = owned.own(new JoinSide(right, keys.over(node.rightKeys()), node.rightKeys(), allocator));
            StateMemory nulls = owned.own(new StateMemory(allocator));
            for (int port = 0; port < 2; port++) {
                RowCodec codec = sides[port].codec();
                columns[port] = RowColumns.of(codec, allocator);
                nullRows[port] = nulls.allocate(codec.fixedBytes());
                codec.writeNulls(nullRows[port]);
            }
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private static void requireSameScales(Join node) {
        for (int key = 0; key < node.leftKeys().size(); key++) {
            Field left = node.left().schema().field(node.leftKeys().get(key));
            Field right = node.right().schema().field(node.rightKeys().get(key));
            if (left.type().scale() != right.type().scale()) {
                throw new IllegalArgumentException("join keys " + left + " and " + right + " have different scales");
            }
        }
    }

    /** The layout of entries by key, over the columns of the left side. */
    KeyLayout keys() {
        return keys;
    }

    JoinSide get(int port) {
        return sides[port];
    }

    /** Of rows that a side's codec encoded. */
    RowColumns columns(int port) {
        return columns[port];
    }

    long nullRow(int port) {
        return nullRows[port];
    }

    @Override
    public void close() {
        owned.close();
    }
}
