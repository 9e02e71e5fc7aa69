package dev.millrace.scheduler;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Places in the order in which they were added; any can leave. Without memory of its own: the links are the places'. */
final class PlaceList {
    /** A place's part in one list. */
    static final class Link {
        final @Nullable Place place; // null in a list's own
        private @Nullable Link before;
        private @Nullable Link after;

        Link(@Nullable Place place) {
            this.place = place;
        }
    }

    private final Link ends = new Link(null);

    PlaceList() {
        ends.before = ends;
        ends.after = ends;
    }

    /** The one added longest ago. */
    @Nullable Place first() {
        return of(ends.after).place;
    }

    void add(Link link) {
        Link last = of(ends.before);
        link.before = last;
        link.after = ends;
        last.after = link;
        ends.before = link;
    }

    void remove(Link link) {
        of(link.before).after = link.after;
        of(link.after).before = link.before;
        link.before = null;
        link.after = null;
    }

    /** Links in a list are never null. */
    private static Link of(@Nullable Link link) {
        return Objects.requireNonNull(link);
    }
}
