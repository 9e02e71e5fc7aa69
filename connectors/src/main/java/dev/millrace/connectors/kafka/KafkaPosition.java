package dev.millrace.connectors.kafka;

import dev.millrace.connector.SourcePosition;
import dev.millrace.kept.FormedBytes;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.TopicPartition;

/**
 * Where a reader is in its partitions. As bytes: whether the partitions had been found, 1 byte; how many partitions, 4 bytes; of each
 * its topic, its number, 4 bytes, the offset that is next, that at which reading ends, and the latest event time, 8 bytes each.
 *
 * @param isFound whether partitions had been found at all; one that is found later is new, and read from its beginning
 */
record KafkaPosition(boolean isFound, List<Place> places) {
    static final String FORM = "kafka";
    private static final int VERSION = 1;
    private static final int LEAST_PLACE_BYTES = 2 + 4 + 3 * 8;

    /** The offset is not known yet: as the option {@code start} says. */
    static final long AS_STARTED = -1;

    /** The offset is not known yet: the earliest. */
    static final long AS_FOUND = -2;

    /** Reading does not end, or it is not known yet where. */
    static final long NO_END = -1;

    /** Where it is in one partition. */
    record Place(TopicPartition partition, long next, long end, long latestMicros) {}

    KafkaPosition {
        places = List.copyOf(places);
    }

    SourcePosition written() {
        return SourcePosition.of(FORM, VERSION, out -> {
            out.writeBoolean(isFound);
            out.writeInt(places.size());
            for (Place place : places) {
                out.writeUTF(place.partition.topic());
                out.writeInt(place.partition.partition());
                out.writeLong(place.next);
                out.writeLong(place.end);
                out.writeLong(place.latestMicros);
            }
        });
    }

    static KafkaPosition read(SourcePosition position) {
        return position.read(FORM, VERSION, in -> {
            boolean isFound = in.readBoolean();
            List<Place> places = new ArrayList<>();
            for (int left = FormedBytes.count(in, LEAST_PLACE_BYTES); left > 0; left--) {
                String topic = in.readUTF();
                int partition = in.readInt();
                long next = in.readLong();
                long end = in.readLong();
                if (partition < 0 || next < AS_FOUND || end < NO_END) {
                    throw new IllegalArgumentException("partition " + partition + " at " + next + " up to " + end);
                }
                places.add(new Place(new TopicPartition(topic, partition), next, end, in.readLong()));
            }
            return new KafkaPosition(isFound, places);
        });
    }
}
