package dev.millrace.sketch.file;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the blocks are that were written since the index before, and which times they hold.
 *
 * @param before where that one begins; 0 if this is the first
 * @param segments in the file up to here
 * @param blocks in their order
 */
record FileIndex(long before, long segments, List<Block> blocks) {
    private static final int HEAD_BYTES = 20;
    private static final int BLOCK_BYTES = 48;

    /**
     * Some segments, and the announcements that they need: they can be read without what is before them.
     *
     * @param at where the first record begins
     * @param end behind the last record
     * @param chain the checksum of all before them
     * @param segments how many
     * @param rows of all of them
     * @param lowTicks no true time is before
     * @param highTicks no true time is after
     */
    record Block(long at, long end, int chain, int segments, long rows, long lowTicks, long highTicks) {}

    byte[] encode() {
        ByteBuffer out = ByteBuffer.allocate(HEAD_BYTES + BLOCK_BYTES * blocks.size() + 4)
                .order(ByteOrder.LITTLE_ENDIAN);
        out.putLong(before).putLong(segments).putInt(blocks.size());
        for (Block block : blocks) {
            out.putLong(block.at).putLong(block.end).putInt(block.chain).putInt(block.segments);
            out.putLong(block.rows).putLong(block.lowTicks).putLong(block.highTicks);
        }
        out.putInt(Records.checksum(out.array(), out.position()));
        return out.array();
    }

    static FileIndex decode(byte[] bytes) {
        Records.check(bytes.length >= HEAD_BYTES + 4, "the index of the file ends early");
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        Records.check(
                in.getInt(bytes.length - 4) == Records.checksum(bytes, bytes.length - 4),
                "the checksum of the file's index does not match");
        long before = in.getLong();
        long segments = in.getLong();
        int count = in.getInt();
        Records.check(
                count >= 0 && bytes.length == HEAD_BYTES + (long) BLOCK_BYTES * count + 4,
                "the index of the file has another length than told");
        List<Block> blocks = new ArrayList<>();
        for (int b = 0; b < count; b++) {
            blocks.add(new Block(
                    in.getLong(), in.getLong(), in.getInt(), in.getInt(), in.getLong(), in.getLong(), in.getLong()));
        }
        return new FileIndex(before, segments, blocks);
    }
}
