"""PEFT: low-rank adapters of a small GPT-2, trained and merged."""

import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
sizes = {"vocab_size": 50, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1}
base = GPT2LMHeadModel(GPT2Config(n_positions=32, n_embd=16, n_layer=1, n_head=2, **sizes)).eval()
kept = {name: value.clone() for name, value in base.state_dict().items()}
model = get_peft_model(base, LoraConfig(r=2, target_modules=["c_attn"], fan_in_fan_out=True))
tokens = torch.randint(2, 50, (4, 8))
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=0.05)
losses = []
for _ in range(20):
    optimizer.zero_grad()
    loss = model(tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0], losses
adapted = model(tokens).logits
assert torch.equal(model.base_model.model.lm_head.weight, kept["lm_head.weight"])
torch.testing.assert_close(model.merge_and_unload()(tokens).logits, adapted, rtol=1e-3, atol=1e-4)
print("done")
