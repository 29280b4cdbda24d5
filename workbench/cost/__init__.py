"""What a month of Cardsharp costs: measured use times a dated list of prices."""
