package dev.millrace.engine.exchange;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.channel.Channel;
import dev.millrace.engine.channel.Item;
import dev.millrace.operator.Operator;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ChannelsOutletTest {
    private final Channel channel = new Channel(1 << 20, 1 << 19, Clock.system());
    private final ChannelsOutlet outlet = new ChannelsOutlet(List.of(channel), false);

    private List<Item> received() {
        List<Item> items = new ArrayList<>();
        for (Optional<Item> item = channel.poll(); item.isPresent(); item = channel.poll()) {
            items.add(item.get());
        }
        return items;
    }

    @Test
    void watermarksWaitForSomeMore() {
        for (int i = 0; i < 1000; i++) {
            outlet.watermark(i);
        }
        List<Item> items = received();
        assertTrue(!items.isEmpty() && items.size() < 100, items.size() + " of 1000");
        outlet.flush();
        outlet.flush();
        List<Item> last = items.contains(new Item.Watermark(999)) ? List.of() : List.of(new Item.Watermark(999));
        assertEquals(last, received());
    }

    @Test
    void nothingOvertakesAWatermark() {
        outlet.watermark(1);
        outlet.epochEnd(7);
        assertEquals(List.of(new Item.Watermark(1), new Item.EpochEnd(7)), received());
        outlet.watermark(2);
        outlet.idle();
        assertEquals(List.of(new Item.Watermark(2), Item.IDLE), received());
        outlet.watermark(3);
        outlet.watermark(Operator.END_OF_INPUT);
        assertEquals(List.of(new Item.Watermark(Operator.END_OF_INPUT)), received());
        outlet.end();
        assertEquals(List.of(Item.END), received());
    }
}
