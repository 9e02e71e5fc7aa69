package dev.millrace.sketch.segment;

import dev.millrace.error.MillraceException;
import dev.millrace.sketch.segment.SketchHeader.Announcement;

/** Puts a matching checksum on changed bytes, if they are still something that announces its incarnation. */
public final class SegmentSeal {
    private SegmentSeal() {}

    public static void seal(byte[] bytes) {
        long incarnation = 0;
        try {
            SketchHeader header = SketchHeader.of(bytes);
            if (header.announcement() == Announcement.COMPLETE || header.announcement() == Announcement.ALONE) {
                incarnation = header.behind(bytes).read(64);
            }
        } catch (MillraceException e) {
            // Its header is damaged, which is then found before the checksum is.
        }
        SketchHeader.seal(bytes, incarnation);
    }
}
