"""What holds for all tests."""

from hypothesis import settings

# Speed is measured by benchmarks; a busy machine must not fail a property.
settings.register_profile("cardsharp", settings(), deadline=None)
settings.load_profile("cardsharp")
